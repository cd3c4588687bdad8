import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import {
  candidates,
  chooseInterpreter,
  isNewEnough,
  PROBE_ARGUMENTS,
  type Probe,
  parseProbe,
  type Sources,
} from "../src/core/interpreter";

const NOTHING: Sources = { setting: undefined, activeEnvironment: undefined, onPath: [], trusted: true };

/** A machine on which these programs are Pythons of these versions, and everything else fails. */
function machine(versions: Record<string, [number, number, number]>): Probe {
  return async ([program]) => {
    const version = versions[program];
    return version ? { version, executable: program } : { failure: "no such file" };
  };
}

test("the setting is used alone", () => {
  const sources: Sources = { ...NOTHING, setting: ["conda", "run"], activeEnvironment: "/env/python", onPath: ["/usr/bin/python3"] };
  assert.deepEqual(candidates(sources), [{ command: ["conda", "run"], origin: "setting" }]);
});

test("the active environment comes before PATH", () => {
  const sources: Sources = { ...NOTHING, activeEnvironment: "/env/python", onPath: ["/usr/bin/python3"] };
  assert.deepEqual(candidates(sources), [{ command: ["/env/python"], origin: "pythonExtension" }]);
});

test("an untrusted workspace's environment is left out, for it may lie in the workspace", () => {
  const sources: Sources = { ...NOTHING, activeEnvironment: "/project/.venv/python", onPath: ["/usr/bin/python3"], trusted: false };
  assert.deepEqual(candidates(sources), [{ command: ["/usr/bin/python3"], origin: "path" }]);
});

test("the first Python on PATH that is new enough is taken", async () => {
  const list = candidates({ ...NOTHING, onPath: ["/shim/python3", "/usr/bin/python3", "/opt/python3"] });
  const choice = await chooseInterpreter(list, machine({ "/usr/bin/python3": [3, 10, 12], "/opt/python3": [3, 12, 1] }));
  assert.equal(choice.kind, "found");
  assert.equal(choice.kind === "found" && choice.interpreter.executable, "/opt/python3");
});

test("a chosen Python that is too old is refused, with its version and where it was chosen", async () => {
  const list = candidates({ ...NOTHING, activeEnvironment: "/env/python", onPath: ["/opt/python3"] });
  const choice = await chooseInterpreter(list, machine({ "/env/python": [3, 9, 6], "/opt/python3": [3, 12, 1] }));
  assert.deepEqual(choice, {
    kind: "refused",
    origin: "pythonExtension",
    message: "Pallas needs Python 3.11 or newer. The Python extension's active environment: /env/python is Python 3.9.6.",
  });
});

test("a Python that does not run is refused with the reason", async () => {
  const choice = await chooseInterpreter(candidates({ ...NOTHING, setting: ["/gone/python"] }), machine({}));
  assert.equal(choice.kind, "refused");
  assert.match(choice.kind === "refused" ? choice.message : "", /pallas\.interpreter: \/gone\/python could not be run \(no such file\)/);
});

test("without any Python the message says so", async () => {
  const choice = await chooseInterpreter([], machine({}));
  assert.match(choice.kind === "refused" ? choice.message : "", /None was found on PATH/);
});

test("3.11 is the oldest that will do", () => {
  assert.deepEqual(
    [[2, 7, 18], [3, 10, 99], [3, 11, 0], [3, 15, 0], [4, 0, 0]].map((version) => isNewEnough(version as [number, number, number])),
    [false, false, true, true, true],
  );
});

test("the probe's output is read behind a wrapper's own lines, and with Windows' line ends", () => {
  assert.deepEqual(parseProbe("activating…\n3 12 1\r\nC:\\Python 3\\python.exe\r\n"), {
    version: [3, 12, 1],
    executable: "C:\\Python 3\\python.exe",
  });
  assert.deepEqual(parseProbe(""), { failure: "unexpected output: none" });
});

test("a real Python answers the probe", async () => {
  const python = process.env["PYTHON"] ?? "python3";
  const { stdout } = await promisify(execFile)(python, [...PROBE_ARGUMENTS]);
  const result = parseProbe(stdout);
  assert.ok("version" in result && result.version[0] === 3, stdout);
});
