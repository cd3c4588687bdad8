import assert from "node:assert/strict";
import { test } from "node:test";
import { initializationOptions, launch } from "../src/core/launch";

test("the server runs isolated from the user's packages", () => {
  assert.deepEqual(launch({ command: ["/env/bin/python"] }, "/ext/bundled/run_server.py"), {
    command: "/env/bin/python",
    args: ["-I", "-S", "-X", "utf8", "/ext/bundled/run_server.py", "server"],
  });
});

test("a command's own arguments stand before Python's", () => {
  const { command, args } = launch({ command: ["conda", "run", "python"] }, "/l.py");
  assert.deepEqual([command, ...args], ["conda", "run", "python", "-I", "-S", "-X", "utf8", "/l.py", "server"]);
});

test("the server learns the interpreter's real path, the settings and the trust", () => {
  assert.deepEqual(initializationOptions({ enable: true }, { executable: "/env/bin/python3.12" }, false), {
    settings: { enable: true },
    interpreter: "/env/bin/python3.12",
    trusted: false,
  });
});
