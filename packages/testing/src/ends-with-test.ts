/** Stops a component when its test ends, also when it fails. */
import { onTestFinished } from "vitest";

/** Call it inside a test. */
export function endsWithTest<T extends { stop(): Promise<void> }>(started: T): T {
  onTestFinished(() => started.stop());
  return started;
}
