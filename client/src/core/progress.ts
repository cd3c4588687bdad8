/** Progress that the user can cancel, such as a confirmation that runs. */

export type Token = string | number;

/** The values of LSP's work done progress, as far as they are shown. */
export interface ProgressValue {
  readonly kind: "begin" | "report" | "end";
  readonly title?: string;
  readonly message?: string;
  readonly percentage?: number;
  readonly cancellable?: boolean;
}

export interface Step {
  readonly message?: string;
  /** Percent gained since the last step. */
  readonly increment: number;
}

/**
 * Shows a notification with a button to cancel until `ended` resolves. `ready` is handed the way to report steps once
 * the notification is there, which the editor does not promise to be at once.
 */
export type Show = (
  title: string,
  ended: Promise<void>,
  cancel: () => void,
  ready: (report: (step: Step) => void) => void,
) => void;

/**
 * The language client shows all of the server's progress in the status bar, where VS Code has no button to cancel it.
 * What the server calls cancellable is shown as a notification instead.
 */
export class CancellableProgress {
  private readonly running = new Map<Token, Notification>();

  constructor(private readonly show: Show) {}

  /** A middleware for the client's progress; `cancel` tells the server that the user wants it to stop. */
  handle(token: Token, value: ProgressValue, next: () => void, cancel: () => void): void {
    const notification = this.running.get(token);
    if (value.kind === "begin" && value.cancellable === true) {
      const begun = new Notification();
      this.running.set(token, begun);
      this.show(value.title ?? "", begun.ended, cancel, (report) => begun.attach(report));
      begun.advance(value);
    } else if (value.kind === "report" && notification !== undefined) {
      notification.advance(value);
    } else {
      this.end(token);
      next(); // At the end the client forgets the token.
    }
  }

  /** Takes every notification away: the server has stopped, and no end will come. */
  clear(): void {
    for (const token of [...this.running.keys()]) {
      this.end(token);
    }
  }

  private end(token: Token): void {
    this.running.get(token)?.end();
    this.running.delete(token);
  }
}

/** One notification; steps that come before it is shown wait for it. */
class Notification {
  readonly ended: Promise<void>;
  end: () => void = () => undefined;
  private report: ((step: Step) => void) | undefined;
  private waiting: Step[] = [];
  private reached = 0;

  constructor() {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  attach(report: (step: Step) => void): void {
    this.report = report;
    this.waiting.splice(0).forEach(report);
  }

  advance(value: ProgressValue): void {
    const percentage = Math.max(this.reached, value.percentage ?? 0);
    const increment = percentage - this.reached;
    this.reached = percentage;
    const step = value.message === undefined ? { increment } : { message: value.message, increment };
    if (this.report === undefined) {
      this.waiting.push(step);
    } else {
      this.report(step);
    }
  }
}
