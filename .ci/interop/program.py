"""The program tables: the store, the catalog, frazil, and the oracle."""
import json
import subprocess
import threading


class Program:
    def __init__(self, path, jars):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lock = threading.Lock()
        self.document = self.answer() | {"Jars": jars}

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the program tables has ended")
        return json.loads(line)

    def change(self, table, batch, deletes=""):
        """Change set number batch and the rows after it; applied to the table by frazil if deletes says how."""
        with self.lock:
            self.process.stdin.write(json.dumps({"Table": table, "Deletes": deletes, "Batch": batch}) + "\n")
            self.process.stdin.flush()
            answer = self.answer()
        if answer["error"]:
            raise RuntimeError(f"frazil, table {table}, change set {batch}: {answer['error']}")
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
