/** Records of the audit log: decisions of controllers, and requests. They come from the hub, or from files. Pure. */
import { CLUSTER_NAME_KEY } from "@flotilla/apimachinery";
import { isObject, jsonOrUndefined } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import type { Decision } from "@flotilla/flotilla";

/** An event of `audit.k8s.io/v1`, as far as it is shown. */
export interface AuditEvent {
  kind: "Event";
  stage: string;
  verb: string;
  auditID: string;
  user?: { username?: string };
  impersonatedUser?: { username?: string };
  objectRef?: {
    resource?: string;
    apiGroup?: string;
    namespace?: string;
    name?: string;
    subresource?: string;
  };
  requestURI: string;
  responseStatus?: { code?: number; message?: string };
  stageTimestamp: string;
  annotations?: Record<string, string>;
}

export type AuditRecord = { type: "decision"; decision: Decision } | { type: "request"; event: AuditEvent };

export interface AuditFilter {
  /** Kinds and plurals in lower case; unset is all. */
  types?: ReadonlySet<string> | undefined;
  name?: string | undefined;
  /** Unset is all. Objects without a namespace match only without one. */
  namespace?: string | undefined;
  fromMs?: number | undefined;
  untilMs?: number | undefined;
  cluster?: string | undefined;
  /** Unset leaves out the requests of Flotilla's own controllers, whose decisions are listed. */
  user?: string | undefined;
}

const CONTROLLERS = "system:flotilla:";
const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);

export const timeOf = (record: AuditRecord): string =>
  record.type === "decision" ? record.decision.time : record.event.stageTimestamp;

/** The records in JSON lines; `others` counts lines that are none. Of a request the last stage is kept; reads are left out. */
export function readLines(text: string): { records: AuditRecord[]; others: number } {
  const records: AuditRecord[] = [];
  let others = 0;
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const value = jsonOrUndefined(line);
    if (isObject(value) && value["kind"] === "Decision" && typeof value["time"] === "string")
      records.push({ type: "decision", decision: value as unknown as Decision });
    else if (isObject(value) && value["kind"] === "Event" && typeof value["stage"] === "string") {
      const event = value as unknown as AuditEvent;
      if (event.stage === "ResponseComplete" && event.objectRef && !READS.has(event.verb))
        records.push({ type: "request", event });
    } else others++;
  }
  return { records, others };
}

/** The records that match, oldest first; a record that is in several files counts once. */
export function selectRecords(records: readonly AuditRecord[], filter: AuditFilter): AuditRecord[] {
  const seen = new Set<string>();
  return records
    .filter((record) => {
      const id = record.type === "decision" ? record.decision.metadata.name : record.event.auditID;
      if (seen.has(id)) return false;
      seen.add(id);
      return matches(record, filter);
    })
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0));
}

function matches(record: AuditRecord, filter: AuditFilter): boolean {
  const { types, name, namespace, fromMs, untilMs, cluster, user } = filter;
  const ms = Date.parse(timeOf(record));
  if ((fromMs !== undefined && ms < fromMs) || (untilMs !== undefined && ms > untilMs)) return false;
  if (record.type === "decision") {
    const { object, clusters, actor } = record.decision;
    return (
      (types === undefined || types.has(object.kind.toLowerCase())) &&
      (name === undefined || object.name === name) &&
      (namespace === undefined || object.namespace === namespace || object.namespace === undefined) &&
      (cluster === undefined || clusters.includes(cluster)) &&
      (user === undefined || actor.user === user || actor.controller === user)
    );
  }
  const { objectRef = {}, annotations = {} } = record.event;
  return (
    (types === undefined || types.has(objectRef.resource ?? "")) &&
    (name === undefined || objectRef.name === name) &&
    (namespace === undefined || objectRef.namespace === namespace || objectRef.namespace === undefined) &&
    (cluster === undefined || annotations[CLUSTER_NAME_KEY] === cluster) &&
    (user === undefined
      ? !userOf(record.event).startsWith(CONTROLLERS)
      : userOf(record.event) === user || record.event.user?.username === user)
  );
}

/** The user that a request acted as. */
export const userOf = ({ user, impersonatedUser }: AuditEvent): string =>
  impersonatedUser?.username ?? user?.username ?? "";

/** What changed: `member1 5 → 0, member2 3 → 8`. */
export function renderChange(before: Json | undefined, after: Json | undefined): string {
  const [left, right] = [flat(before), flat(after)];
  // A word such as `leaving` describes only the new state.
  for (const path of left.keys()) if (!right.has(path) && STATES.has(path)) left.delete(path);
  const paths = [...new Set([...left.keys(), ...right.keys()])].filter((path) => left.get(path) !== right.get(path));
  const texts = paths.map((path) => {
    const [from, to] = [left.get(path), right.get(path)];
    const label = path === "" ? "" : `${path.replace(LONG_PREFIX, "$1")} `;
    return from === undefined ? `${label}${to}` : `${label}${from} → ${to ?? "0"}`;
  });
  return texts.length > MAX_CHANGES
    ? `${texts.slice(0, MAX_CHANGES).join(", ")} and ${texts.length - MAX_CHANGES} more`
    : texts.join(", ");
}

const STATES: ReadonlySet<string> = new Set(["leaving"]);
const MAX_CHANGES = 8;
/** Of the fields of a release only the last part is needed: `member1 partition 4 → 3`. */
const LONG_PREFIX = /(^|\s)spec\.(template\.spec\.|(updateS|s)trategy\.(rollingUpdate\.)?)?/;

function flat(value: Json | undefined, path = "", into = new Map<string, string>()): Map<string, string> {
  if (value === undefined) return into;
  if (isObject(value) && Object.keys(value).length > 0)
    for (const [key, inner] of Object.entries(value)) flat(inner, path === "" ? key : `${path} ${key}`, into);
  else if (value === true) into.set(path, "yes");
  else if (value === null) into.set(path, "none");
  else if (!isObject(value)) into.set(path, typeof value === "string" ? value : JSON.stringify(value));
  return into;
}
