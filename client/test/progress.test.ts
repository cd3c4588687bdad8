import assert from "node:assert/strict";
import { test } from "node:test";
import { CancellableProgress, type Step } from "../src/core/progress";

/** An editor whose notifications appear when the test says so. */
class Editor {
  readonly titles: string[] = [];
  readonly steps: Step[] = [];
  ended = false;
  cancel: () => void = () => undefined;
  appear: () => void = () => undefined;

  readonly progress = new CancellableProgress((title, ended, cancel, ready) => {
    this.titles.push(title);
    this.cancel = cancel;
    this.appear = () => ready((step) => this.steps.push(step));
    void ended.then(() => {
      this.ended = true;
    });
  });
}

const nothing = () => undefined;
const BEGIN = { kind: "begin", title: "Confirm", message: "starting", cancellable: true } as const;

test("cancellable progress is a notification, and its cancel is handed on", () => {
  const editor = new Editor();
  let cancelled = 0;
  editor.progress.handle("t", BEGIN, () => assert.fail("shown twice"), () => cancelled++);
  assert.deepEqual(editor.titles, ["Confirm"]);
  editor.cancel();
  assert.equal(cancelled, 1);
});

test("other progress is left to the language client", () => {
  const editor = new Editor();
  let handedOn = 0;
  for (const value of [{ ...BEGIN, cancellable: false }, { kind: "report" }, { kind: "end" }] as const) {
    editor.progress.handle("t", value, () => handedOn++, nothing);
  }
  assert.equal(handedOn, 3);
  assert.deepEqual(editor.titles, []);
});

test("steps that come before the notification is there wait for it", () => {
  const editor = new Editor();
  editor.progress.handle("t", BEGIN, nothing, nothing);
  editor.progress.handle("t", { kind: "report", message: "lowering", percentage: 40 }, nothing, nothing);
  editor.appear();
  editor.progress.handle("t", { kind: "report", percentage: 70 }, nothing, nothing);
  assert.deepEqual(editor.steps, [
    { message: "starting", increment: 0 },
    { message: "lowering", increment: 40 },
    { increment: 30 },
  ]);
});

test("the end takes the notification away, also one that is not there yet, and the client learns of it", async () => {
  const editor = new Editor();
  let handedOn = 0;
  editor.progress.handle(1, BEGIN, nothing, nothing);
  editor.progress.handle(1, { kind: "end" }, () => handedOn++, nothing);
  await Promise.resolve();
  assert.deepEqual([editor.ended, handedOn], [true, 1]);
});

test("when the server stops, its notifications go", async () => {
  const editor = new Editor();
  editor.progress.handle("t", BEGIN, nothing, nothing);
  editor.progress.clear();
  await Promise.resolve();
  assert.ok(editor.ended);
});
