/** Decides whether a server that died by itself is started again. */

const MAXIMUM = 3;
const WINDOW_MS = 3 * 60 * 1000;

/** At most three restarts within three minutes: a server that dies on every start must not do so for ever. */
export class RestartBudget {
  private deaths: number[] = [];

  constructor(private readonly now: () => number) {}

  /** Counts a death; true if another start is worth it. */
  spend(): boolean {
    const present = this.now();
    this.deaths = this.deaths.filter((time) => present - time < WINDOW_MS);
    this.deaths.push(present);
    return this.deaths.length <= MAXIMUM;
  }

  reset(): void {
    this.deaths = [];
  }
}
