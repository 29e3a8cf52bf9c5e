/** A write as a transaction of etcd, and what its answer means. Pure. */
import type { Entry, Outcome, Write } from "../engine.ts";
import { StoreError } from "../errors.ts";
import type { Compare, KeyValue, TransactionAnswer } from "./etcd-messages.ts";

/** The conditions of a write: its expectation first, then its guards. */
export function comparesOf({ key, expect, guards = [] }: Write, bytes: (key: string) => Uint8Array): Compare[] {
  const compare = (each: string, revision: number | "absent"): Compare => ({
    key: bytes(each),
    modRevision: revision === "absent" ? 0 : revision,
  });
  return [
    ...(expect === "any" ? [] : [compare(key, expect)]),
    ...guards.map((guard) => compare(guard.key, guard.expect)),
  ];
}

/** `results` are those of the branch that ran; that of a failure reads the key and the guards, in order. */
export function outcomeOf(
  { expect, guards = [] }: Write,
  { succeeded, revision, results }: TransactionAnswer,
  entryOf: (found: KeyValue) => Entry,
): Outcome {
  if (succeeded) return { ok: true, revision };
  const [own, ...others] = results.map(({ entries: [entry] }) => entry);
  const isAt = (found: KeyValue | undefined, wanted: number | "absent"): boolean =>
    (found?.modRevision ?? 0) === (wanted === "absent" ? 0 : wanted);
  if (expect !== "any" && !isAt(own, expect)) return own ? { ok: false, current: entryOf(own) } : { ok: false };
  const index = guards.findIndex((guard, at) => !isAt(others[at], guard.expect));
  const failed = guards[index];
  if (!failed) throw new StoreError("etcd failed a transaction all of whose conditions hold");
  return { ok: false, failedGuard: failed.key, revision };
}
