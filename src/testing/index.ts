export { createFakeClient, type FakeClient } from "./fake-client.ts";
export { reconcileUntilQuiet } from "./reconcile-until-quiet.ts";
export * from "./builders.ts";
export { countWrites, type WriteCounter } from "./count-writes.ts";
export { runClock } from "./run-clock.ts";
