import assert from "node:assert/strict";
import { test } from "node:test";
import { confirmArguments, contextChoices, remoteChoices, THIS_MACHINE } from "../src/core/choices";

test("this machine comes first, then the remotes by name", () => {
  const remotes = { slurm: { prefix: ["srun", "--gres=gpu:1"], python: "/opt/python" }, gpubox: ["ssh", "gpubox"] };
  assert.deepEqual(remoteChoices(remotes), [
    THIS_MACHINE,
    { label: "gpubox", description: "ssh gpubox", remote: "gpubox" },
    { label: "slurm", description: "srun --gres=gpu:1", remote: "slurm" },
  ]);
});

test("a remote that is not a command is shown as such, not hidden", () => {
  assert.deepEqual(
    remoteChoices({ typo: "ssh gpubox", empty: null }).map((choice) => choice.description),
    [THIS_MACHINE.description, "not a command: see the setting pallas.remotes", "not a command: see the setting pallas.remotes"],
  );
});

test("without remotes there is this machine alone", () => {
  assert.deepEqual([remoteChoices(undefined), remoteChoices(null), remoteChoices({})], [[THIS_MACHINE], [THIS_MACHINE], [THIS_MACHINE]]);
});

test("confirm is sent with the place and the way", () => {
  const place = { uri: "file:///k.py", line: 7 };
  assert.deepEqual(confirmArguments(place, undefined), { uri: "file:///k.py", line: 7, way: "lower" });
  assert.deepEqual(confirmArguments(place, "gpubox"), { uri: "file:///k.py", line: 7, way: "remote", remote: "gpubox" });
});

test("the context in use is marked", () => {
  const contexts = [
    { id: "1", label: "tile_m=128", description: "bench.py:31", active: true },
    { id: "2", label: "tile_m=64" },
  ];
  assert.deepEqual(contextChoices(contexts), [
    { id: "1", label: "$(check) tile_m=128", description: "bench.py:31" },
    { id: "2", label: "tile_m=64", description: "" },
  ]);
});
