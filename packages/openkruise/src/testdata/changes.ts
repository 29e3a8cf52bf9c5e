/** The changes of a pod, in the format of the recordings. Only for tests. */
import type { ReadonlyPod } from "@flotilla/kubernetes";

type Map = Readonly<Record<string, string>>;

export function changesOf(before: ReadonlyPod, after: ReadonlyPod): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  const compare = (what: string, left: Map = {}, right: Map = {}): void => {
    for (const key of Object.keys({ ...left, ...right })) if (left[key] !== right[key]) changes[`${what} ${key}`] = right[key] ?? null;
  };
  compare("label", before.metadata.labels, after.metadata.labels);
  compare("annotation", before.metadata.annotations, after.metadata.annotations);
  const finalizers = after.metadata.finalizers ?? [];
  if (String(before.metadata.finalizers ?? []) !== String(finalizers)) changes["finalizers"] = finalizers;
  compare("image", imagesOf(before), imagesOf(after));
  for (const { type, status, reason, message } of after.status?.conditions ?? []) {
    const old = before.status?.conditions?.find((condition) => condition.type === type);
    if (old?.status !== status || old.reason !== reason || old.message !== message) changes[`condition ${type}`] = { status, reason, message };
  }
  return changes;
}

function imagesOf({ spec }: ReadonlyPod): Map {
  return Object.fromEntries(spec?.containers?.map(({ name, image }) => [name, image ?? ""]) ?? []);
}
