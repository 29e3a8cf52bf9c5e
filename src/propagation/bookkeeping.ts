/**
 * Annotations in which Flotilla keeps its own records. Whoever writes one into a template or an override would speak
 * for Flotilla, for example say that it let an object go which it never had; so they are left out of what becomes a
 * member's copy.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { APPLIED_DIGEST, RELEASED_FROM } from "../delivery/index.ts";
import { KEPT_TEMPLATE, LEAVING_ORDINALS, ROLLOUT_STAGE } from "../interpreter/index.ts";
import {
  ACTIVATED_TEMPLATE,
  LET_GO_FOR,
  MANAGED_ANNOTATIONS,
  MANAGED_LABELS,
  MOVES,
  UNHEALTHY_SINCE,
} from "./well-known.ts";

type Copy = DeepReadonly<KubernetesObject>;

const RECORDS: readonly string[] = [
  ACTIVATED_TEMPLATE,
  APPLIED_DIGEST,
  KEPT_TEMPLATE,
  LEAVING_ORDINALS,
  LET_GO_FOR,
  MANAGED_ANNOTATIONS,
  MANAGED_LABELS,
  MOVES,
  RELEASED_FROM,
  ROLLOUT_STAGE,
  UNHEALTHY_SINCE,
];

/** The object without them; the same one when it has none. */
export function withoutRecords(object: Copy): Copy {
  return withRecordsOf(object, undefined);
}

/** The object with the records that `original` has and no others. */
export function withRecordsOf(object: Copy, original: Copy | undefined): Copy {
  const [given, wanted] = [object.metadata.annotations, original?.metadata.annotations];
  if (RECORDS.every((name) => given?.[name] === wanted?.[name])) return object;
  const annotations: Record<string, string> = { ...given };
  for (const name of RECORDS) {
    const value = wanted?.[name];
    if (value === undefined) delete annotations[name];
    else annotations[name] = value;
  }
  return { ...object, metadata: { ...object.metadata, annotations } };
}
