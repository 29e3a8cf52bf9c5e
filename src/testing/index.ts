export { createFakeClient, type FakeClient, type FakeWrite } from "./fake-client.ts";
export { reconcileUntilQuiet, type UntilQuietOptions } from "./reconcile-until-quiet.ts";
export * from "./builders.ts";
export { countWrites, type WriteCount, type WriteCounter } from "./count-writes.ts";
export { runClock } from "./run-clock.ts";
