import { expect, test } from "vitest";
import { MetricsText, silentLog } from "@flotilla/base";
import type { Controller, RunContext } from "@flotilla/controller-runtime";
import { done } from "@flotilla/controller-runtime";
import { createControllerMeter } from "./controller-meter.ts";

const controller = (name: string, reconcile: Controller["reconcile"] = async () => done): Controller => ({
  name,
  writes: [],
  concurrency: 1,
  sources: [],
  idOf: String,
  reconcile,
});
const contextOf = (signal = new AbortController().signal) => ({ log: silentLog, signal }) as unknown as RunContext;

function samplesOf(meter: ReturnType<typeof createControllerMeter>): string[] {
  const text = new MetricsText();
  meter.write(text);
  return text
    .finish()
    .split("\n")
    .filter((line) => /_(count|total)[{ ]/.test(line) && !line.startsWith("#"));
}

test("controllers are measured under Karmada's metric names, by result", async () => {
  const meter = createControllerMeter();
  const failing = new Error("broken");
  const [dispatch, eviction, membership] = meter.around([
    controller("dispatch", () => Promise.reject(failing)),
    controller("eviction-cluster-bindings"),
    controller("membership"),
  ]);

  await expect(dispatch?.reconcile({}, contextOf())).rejects.toBe(failing);
  await eviction?.reconcile({}, contextOf());
  await membership?.reconcile({ cluster: "hub", name: "paris" }, contextOf());

  expect(samplesOf(meter)).toEqual([
    'binding_sync_work_duration_seconds_count{result="error"} 1',
    'cluster_sync_status_duration_seconds_count{member_cluster="paris"} 1',
    'eviction_processing_latency_seconds_count{name="cluster-binding-eviction"} 1',
    'eviction_processing_total{name="cluster-binding-eviction",result="success"} 1',
  ]);
});

test("other controllers are returned unchanged", () => {
  const other = controller("cloneset");

  expect(createControllerMeter().around([other])[0]).toBe(other);
});

test("an aborted reconcile is not counted as a failure, and series of a removed member are dropped", async () => {
  const meter = createControllerMeter();
  const stopped = AbortSignal.abort();
  const [dispatch, membership] = meter.around([
    controller("dispatch", () => Promise.reject(new Error("stopped"))),
    controller("membership"),
  ]);
  await expect(dispatch?.reconcile({}, contextOf(stopped))).rejects.toThrow("stopped");
  await membership?.reconcile({ name: "paris" }, contextOf());

  meter.forget("paris");

  expect(samplesOf(meter)).toEqual([]);
});
