/** What a test starts ends with it, also when it fails. */
import { onTestFinished } from "vitest";

/** To be called inside a test. */
export function endsWithTest<T extends { stop(): Promise<void> }>(started: T): T {
  onTestFinished(() => started.stop());
  return started;
}
