import assert from "node:assert/strict";
import { test } from "node:test";
import { pythonsOnPath } from "../src/core/pathSearch";

test("every Python is found, plain names first and in PATH's order", () => {
  const files = new Set(["/a/python3", "/b/python3", "/b/python3.12", "/b/python"]);
  assert.deepEqual(pythonsOnPath({ path: "/a:/b/", windows: false, isExecutable: (file) => files.has(file) }), [
    "/a/python3",
    "/b/python3",
    "/b/python",
    "/b/python3.12",
  ]);
});

test("relative entries are left out: they would mean the workspace", () => {
  const asked: string[] = [];
  const isExecutable = (file: string) => asked.push(file) > 0;
  pythonsOnPath({ path: ".::bin:/usr/bin", windows: false, isExecutable });
  assert.ok(asked.length > 0 && asked.every((file) => file.startsWith("/usr/bin/")), asked.join());
});

test("a folder that stands twice on PATH is asked once", () => {
  assert.deepEqual(pythonsOnPath({ path: "/a:/a", windows: false, isExecutable: (file) => file === "/a/python" }), ["/a/python"]);
});

test("Windows has its own separators and endings", () => {
  const files = new Set(["C:\\Python312\\python.exe"]);
  assert.deepEqual(
    pythonsOnPath({ path: ".;C:\\Windows;C:\\Python312\\", windows: true, isExecutable: (file) => files.has(file) }),
    ["C:\\Python312\\python.exe"],
  );
});
