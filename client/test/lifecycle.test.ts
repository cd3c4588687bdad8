import assert from "node:assert/strict";
import { test } from "node:test";
import { RestartBudget } from "../src/core/restarts";
import { Serial } from "../src/core/serial";

test("three restarts within three minutes, not a fourth", () => {
  let now = 0;
  const budget = new RestartBudget(() => now);
  const answers = [0, 1, 2, 3].map((minute) => {
    now = minute * 10_000;
    return budget.spend();
  });
  assert.deepEqual(answers, [true, true, true, false]);
});

test("deaths that lie far apart never use the budget up", () => {
  let now = 0;
  const budget = new RestartBudget(() => now);
  for (let day = 0; day < 10; day++) {
    now = day * 24 * 3600 * 1000;
    assert.ok(budget.spend());
  }
});

test("a restart that the user asks for gives the budget back", () => {
  const budget = new RestartBudget(() => 0);
  [1, 2, 3].forEach(() => budget.spend());
  budget.reset();
  assert.ok(budget.spend());
});

test("jobs run one after the other, also after one that fails", async () => {
  const serial = new Serial();
  const events: string[] = [];
  const job = (name: string, failure?: Error) => async () => {
    events.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    events.push(`${name} ends`);
    if (failure) {
      throw failure;
    }
    return name;
  };
  const first = serial.run(job("first", new Error("broken")));
  const second = serial.run(job("second"));
  await assert.rejects(first, /broken/);
  assert.equal(await second, "second");
  assert.deepEqual(events, ["first starts", "first ends", "second starts", "second ends"]);
});
