/** What the status bar says about the file in front. */

/** The notification `pallas/status`. */
export interface FileStatus {
  readonly uri: string;
  /** Call sites that were checked in full. */
  readonly checked: number;
  readonly total: number;
  readonly unknown: number;
  readonly target: string | null;
  /** The calling context that hovers and hints speak of, such as `tile_m=128, bench.py:31 (1/12)`. */
  readonly context: string | null;
}

export interface StatusText {
  readonly text: string;
  readonly tooltip: string;
}

/** Undefined for a file without call sites: the status bar is then hidden. */
export function statusText(status: FileStatus | undefined): StatusText | undefined {
  if (status === undefined || status.total === 0) {
    return undefined;
  }
  return { text: `Pallas ${status.checked}/${status.total}`, tooltip: tooltip(status) };
}

function tooltip(status: FileStatus): string {
  const lines = [`${status.checked} of ${count(status.total, "call site")} checked`];
  if (status.unknown > 0) {
    lines.push(`${status.unknown} unknown: hover the call to see why`);
  }
  if (status.target) {
    lines.push(`Target: ${status.target}`);
  }
  if (status.context) {
    lines.push(`Context: ${status.context} (click to pick another)`);
  }
  return lines.join("\n");
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
