package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPackGivesTheSameBytesForTheSameFiles(t *testing.T) {
	t.Parallel()
	entries := []entry{{"bootstrap", 0o755, []byte("binary")}, {"LICENSE", 0o644, []byte("text")}}
	first, err := pack(entries)
	if err != nil {
		t.Fatal(err)
	}
	second, err := pack(entries)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two zips of the same files differ")
	}
	r, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]os.FileMode{}
	for _, f := range r.File {
		got[f.Name] = f.Mode()
	}
	if diff := cmp.Diff(map[string]os.FileMode{"bootstrap": 0o755, "LICENSE": 0o644}, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestCollectTakesLicencesOfEveryFolderAndNoCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE.txt":                   "a",
		"NOTICE":                        "b",
		"internal/fork/COPYING":         "c",
		"license.go":                    "code",
		"README.md":                     "readme",
		".github/workflows/license.yml": "workflow",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	owners := map[string][]string{"a": {"other@v1: LICENSE"}}
	found, err := collect("m@v2", dir, owners)
	if err != nil || !found {
		t.Fatalf("found %v, error %v", found, err)
	}
	want := map[string][]string{
		"a": {"other@v1: LICENSE", "m@v2: LICENSE.txt"},
		"b": {"m@v2: NOTICE"},
		"c": {"m@v2: internal/fork/COPYING"},
	}
	if diff := cmp.Diff(want, owners); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

func TestCollectFindsNothingInAModuleWithoutLicence(t *testing.T) {
	t.Parallel()
	if found, err := collect("m@v2", t.TempDir(), map[string][]string{}); found || err != nil {
		t.Errorf("found %v, error %v", found, err)
	}
}

func TestThirdPartyHasTheLicencesOfGoAndOfTheModulesLinked(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := thirdParty(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo, go1.", "\ngithub.com/google/go-cmp@v", "Redistribution and use in source and binary forms"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing", want)
		}
	}
}
