import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";
import { interpreterSetting, type Variables } from "../src/core/setting";

const VARIABLES: Variables = {
  workspaceFolder: "/project",
  home: "/home/ada",
  environment: { VENV: "/venvs/jax" },
  join: path.posix.join,
  isAbsolute: path.posix.isAbsolute,
};

const CASES: [unknown, string[] | undefined][] = [
  [null, undefined],
  [undefined, undefined],
  ["", undefined],
  [[], undefined],
  [42, undefined],
  ["/usr/bin/python3", ["/usr/bin/python3"]],
  ["python3.12", ["python3.12"]],
  ["~/venv/bin/python", ["/home/ada/venv/bin/python"]],
  ["${userHome}/venv/bin/python", ["/home/ada/venv/bin/python"]],
  ["${workspaceFolder}/.venv/bin/python", ["/project/.venv/bin/python"]],
  [".venv/bin/python", ["/project/.venv/bin/python"]],
  ["${env:VENV}/bin/python", ["/venvs/jax/bin/python"]],
  [["conda", "run", "-n", "jax", "python"], ["conda", "run", "-n", "jax", "python"]],
  [["/a folder/python"], ["/a folder/python"]],
];

for (const [value, expected] of CASES) {
  test(`pallas.interpreter = ${JSON.stringify(value)}`, () => {
    assert.deepEqual(interpreterSetting(value, VARIABLES), expected);
  });
}

test("without a folder the variable stays, so that the message shows what is wrong", () => {
  const nowhere = { ...VARIABLES, workspaceFolder: undefined };
  assert.deepEqual(interpreterSetting("${workspaceFolder}/python", nowhere), ["${workspaceFolder}/python"]);
});
