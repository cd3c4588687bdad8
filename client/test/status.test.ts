import assert from "node:assert/strict";
import { test } from "node:test";
import { type FileStatus, statusText } from "../src/core/status";

const STATUS: FileStatus = { uri: "file:///k.py", checked: 12, total: 14, unknown: 2, target: "jax 0.12, sm_90a", context: null };

test("how much was checked, and what is unknown", () => {
  assert.deepEqual(statusText(STATUS), {
    text: "Pallas 12/14",
    tooltip: "12 of 14 call sites checked\n2 unknown: hover the call to see why\nTarget: jax 0.12, sm_90a",
  });
});

test("the calling context, where there is one", () => {
  const shown = statusText({ ...STATUS, checked: 1, total: 1, unknown: 0, target: null, context: "tile_m=128, bench.py:31 (1/12)" });
  assert.equal(shown?.tooltip, "1 of 1 call site checked\nContext: tile_m=128, bench.py:31 (1/12) (click to pick another)");
});

test("nothing for a file without call sites, or not yet analysed", () => {
  assert.equal(statusText({ ...STATUS, checked: 0, total: 0, unknown: 0 }), undefined);
  assert.equal(statusText(undefined), undefined);
});
