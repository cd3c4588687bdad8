/** Runs asynchronous jobs one after the other, so that a restart never meets a start that is still under way. */
export class Serial {
  private tail: Promise<unknown> = Promise.resolve();

  /** Runs `job` after all earlier ones, whether or not they failed; resolves or rejects as the job does. */
  run<T>(job: () => Promise<T>): Promise<T> {
    const result = this.tail.then(job, job);
    this.tail = result.catch(() => undefined);
    return result;
  }
}
