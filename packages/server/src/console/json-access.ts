/** Reads parts of objects that members and users wrote: a value of an unexpected type counts as missing. Pure. */
import { isObject } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";

export type ReadonlyObject = DeepReadonly<JsonObject>;

export const objectAt = (object: ReadonlyObject | undefined, field: string): ReadonlyObject => {
  const value = object?.[field];
  return isObject(value) ? value : {};
};
export const objectsAt = (object: ReadonlyObject | undefined, field: string): ReadonlyObject[] => {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter((each) => isObject(each)) : [];
};
export const textAt = (object: ReadonlyObject | undefined, field: string): string => {
  const value = object?.[field];
  return typeof value === "string" ? value : "";
};
export const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** `app=web,tier=front` of labels. */
export const labelsText = (labels: ReadonlyObject): string[] =>
  Object.entries(labels).flatMap(([key, value]) => (typeof value === "string" ? [`${key}=${value}`] : []));

/** `matchLabels` of a workload as a label selector; expressions are rare in workloads. */
export const selectorOf = (object: ReadonlyObject | undefined): string =>
  labelsText(objectAt(objectAt(objectAt(object, "spec"), "selector"), "matchLabels")).join(",");

/** The message of a Status, or the beginning of any other text. */
export function reasonIn(text: string): string {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return (isObject(status) ? textAt(status, "message") : "") || text.slice(0, 200);
}

/** Waits, and ends early when the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    const stop = (): void => {
      timer.cancel();
      resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
