/**
 * The audit log: decides by the policy which requests are recorded, makes their events (`audit.k8s.io/v1`) and hands them
 * to the backends. Without an auditor requests cost nothing; a request that the policy leaves out costs one decision.
 *
 * One log holds all logical clusters: an annotation names the cluster of each event.
 */
import type { Status } from "@flotilla/apimachinery";
import { counter, Counts, defined, formatMicroTime, isObject, randomUuid } from "@flotilla/base";
import type { Clock, Json, JsonObject, Metric, MetricsText, Random } from "@flotilla/base";
import { AUDIT_LEVELS } from "../request/audit-record.ts";
import type { AuditLevel, AuditRecord } from "../request/audit-record.ts";
import type { UserInfo } from "../request/user-info.ts";
import { recordedBody } from "./audit-bodies.ts";
import type { AuditAttributes, AuditDecision, AuditPolicy, AuditStage } from "./audit-policy.ts";

const EVENTS = counter("apiserver_audit_event_total", "Audit events that were created and sent to the backends.");
const LEVELS = counter("apiserver_audit_level_total", "Requests by the level of the audit policy.", "level");
const ERRORS = counter(
  "apiserver_audit_error_total",
  "Audit events that a backend could not record; each is also counted in the log.",
  "plugin",
);
const REJECTED = counter(
  "apiserver_audit_requests_rejected_total",
  "Requests that were rejected because they could not be audited; always 0, because auditing never rejects.",
);
export const auditMetrics: readonly Metric[] = [EVENTS, ERRORS, LEVELS, REJECTED];

/** One line of the log. */
export interface AuditLine {
  /** JSON without a line break. */
  readonly text: string;
  /** For a record of another kind: the same as an event, for receivers that accept nothing else. */
  asEvent?(): string;
}

export interface AuditBackend {
  /** `log`, `webhook`. */
  readonly name: string;
  /** Never waits and never throws: what cannot be recorded is reported by `onLost` of the backend. */
  write(line: AuditLine): void;
  /** Writes what is buffered. */
  close(): Promise<void>;
}

/** A request as the log describes it. */
export interface AuditedRequest extends Omit<AuditAttributes, "user"> {
  readonly id: string;
  readonly cluster: string;
  readonly user: UserInfo | undefined;
  /** With the query, as it was sent. */
  readonly uri: string;
  readonly version?: string | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
}

/** A request that is recorded. */
export interface RunningAudit extends AuditRecord {
  readonly level: AuditLevel;
  /** The headers are sent, the body will follow: watches and connections. */
  started(code: number): void;
  /** `status` of a failure. */
  completed(code: number, status?: Status): void;
}

export interface Auditor {
  /** Undefined when the policy leaves the request out. */
  begin(request: AuditedRequest): RunningAudit | undefined;
  /** A request whose credentials were rejected; `attempted` are the kinds of credentials that it had. */
  rejected(request: AuditedRequest, attempted: string, status: Status): void;
  /** Another record, beside the events of requests. */
  write(line: AuditLine): void;
  /** An id for a request that has none. */
  newId(): string;
  writeMetrics(text: MetricsText): void;
}

export interface AuditorOptions {
  policy: AuditPolicy;
  /** The annotation that names the logical cluster of an event. */
  clusterAnnotation: string;
  backends: readonly AuditBackend[];
  /** Counts of what the backends lost, by backend. */
  lost?: Counts;
  clock: Clock;
  random: Random;
}

/** Shared with the backends, which count what they lose. */
export const createAuditErrors = (): Counts => new Counts(ERRORS);

/** Upstream's limit for the id that a client sends. */
const MAX_ID_LENGTH = 64;

export function createAuditor({
  policy,
  clusterAnnotation,
  backends,
  lost = createAuditErrors(),
  clock,
  random,
}: AuditorOptions): Auditor {
  const events = new Counts(EVENTS);
  const levels = new Counts(LEVELS);
  const rejections = new Counts(REJECTED);
  for (const { name } of backends) lost.add([name], 0);
  events.add([], 0);
  rejections.add([], 0);
  const prefix = randomUuid(random).slice(0, 24);
  let made = 0;

  const emit = (event: JsonObject): void => {
    events.add([]);
    const line = { text: JSON.stringify(event) };
    for (const backend of backends) backend.write(line);
  };
  const decide = (request: AuditedRequest): AuditDecision => {
    const decision = policy.decide(request);
    levels.add([decision.level]);
    return decision;
  };

  return {
    begin(request) {
      const decision = decide(request);
      if (decision.level === "None") return undefined;
      return new AuditedCall(request, decision, { clock, clusterAnnotation }, emit);
    },
    rejected(request, attempted, { status, reason, code }) {
      const decision = decide({ ...request, user: undefined });
      if (decision.level === "None" || decision.omitStages.has("ResponseStarted")) return;
      const now = formatMicroTime(clock.now());
      emit({
        ...head(request, "Metadata", "ResponseStarted"),
        user: {},
        responseStatus: defined({
          metadata: {},
          status,
          message:
            attempted === ""
              ? "Authentication failed, no credentials provided"
              : `Authentication failed, attempted: ${attempted}`,
          reason,
          code,
        }),
        requestReceivedTimestamp: now,
        stageTimestamp: now,
        annotations: { [clusterAnnotation]: request.cluster },
      });
    },
    write(line) {
      for (const backend of backends) backend.write(line);
    },
    newId: () => prefix + (++made).toString(16).padStart(12, "0"),
    writeMetrics(text) {
      events.write(text);
      lost.write(text);
      levels.write(text);
      rejections.write(text);
    },
  };
}

/** Annotations are made by webhooks and policies, too. */
const MAX_ANNOTATIONS = 256;
/** Larger bodies are left out, as with upstream's truncation; the annotation says so. All annotations are as one body. */
const MAX_BODY_CHARACTERS = 1024 * 1024;
const TRUNCATED = "audit.k8s.io/truncated";

class AuditedCall implements RunningAudit {
  readonly #request: AuditedRequest;
  readonly #decision: AuditDecision;
  readonly #clock: Clock;
  readonly #emit: (event: JsonObject) => void;
  readonly #receivedAt: string;
  readonly #annotations: Record<string, string>;
  #annotatedCharacters = 0;
  #impersonated: UserInfo | undefined;
  #object: { name?: string; namespace?: string; uid?: string; resourceVersion?: string } = {};
  #hasBody = false;
  #sent: Json | undefined;
  #answer: Json | undefined;
  #isOver = false;

  constructor(
    request: AuditedRequest,
    decision: AuditDecision,
    { clock, clusterAnnotation }: Pick<AuditorOptions, "clock" | "clusterAnnotation">,
    emit: (event: JsonObject) => void,
  ) {
    this.#request = request;
    this.#decision = decision;
    this.#clock = clock;
    this.#emit = emit;
    this.#annotations = { [clusterAnnotation]: request.cluster };
    this.#receivedAt = formatMicroTime(clock.now());
    this.#stage("RequestReceived", this.#receivedAt);
  }

  get level(): AuditLevel {
    return this.#decision.level;
  }

  annotate(key: string, value: string, from: AuditLevel = "Metadata"): void {
    if (!this.#records(from) || Object.hasOwn(this.#annotations, key)) return;
    if (Object.keys(this.#annotations).length >= MAX_ANNOTATIONS) return;
    if (this.#annotatedCharacters + key.length + value.length > MAX_BODY_CHARACTERS) {
      this.#annotations[TRUNCATED] = "true";
      return;
    }
    this.#annotatedCharacters += key.length + value.length;
    this.#annotations[key] = value;
  }

  patched(key: string, webhook: JsonObject, patch: Json): void {
    if (!this.#records("Request")) return;
    this.annotate(key, JSON.stringify({ ...webhook, patch: this.#withoutTokens(patch), patchType: "JSONPatch" }));
  }

  impersonated(user: UserInfo): void {
    this.#impersonated = user;
  }

  sent(body: Json): void {
    if (this.#hasBody) return;
    this.#hasBody = true;
    this.#identify(body);
    // Serialized now, because admission may change the object.
    if (this.#records("Request")) this.#sent = this.#bodyOf(body, "Request");
  }

  answered(make: () => JsonObject): void {
    const isRecorded = this.#records("RequestResponse");
    // A create learns its name from the answer where the server made it.
    if (!isRecorded && (this.#request.verb !== "create" || this.#object.name !== undefined)) return;
    const object = make();
    this.#identify(object);
    if (isRecorded) this.#answer = this.#bodyOf(object, "RequestResponse");
  }

  started(code: number): void {
    this.#stage("ResponseStarted", formatMicroTime(this.#clock.now()), { metadata: {}, code });
  }

  completed(code: number, status?: Status): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { reason, message, details } = status ?? {};
    const response = defined({
      metadata: {},
      status: status?.status,
      message,
      reason,
      details: details && Object.keys(details).length > 0 ? (details as unknown as JsonObject) : undefined,
      code,
    });
    this.#stage("ResponseComplete", formatMicroTime(this.#clock.now()), response);
  }

  #records(level: AuditLevel): boolean {
    return AUDIT_LEVELS.indexOf(this.#decision.level) >= AUDIT_LEVELS.indexOf(level);
  }

  #withoutTokens(body: Json): Json {
    const { group = "", resource = "", subresource } = this.#request.resource ?? {};
    const { omitManagedFields } = this.#decision;
    return recordedBody(body, { group, resource, subresource, omitManagedFields });
  }

  #bodyOf(body: Json, what: "Request" | "RequestResponse"): Json | undefined {
    const text = JSON.stringify(this.#withoutTokens(body));
    if (text.length <= MAX_BODY_CHARACTERS) return JSON.parse(text) as Json;
    this.annotate(TRUNCATED, "true", what);
    return undefined;
  }

  #identify(body: Json): void {
    if (!isObject(body) || !isObject(body.metadata) || !this.#request.resource || Array.isArray(body.items)) return;
    const { name, namespace, uid, resourceVersion } = body.metadata;
    const given = { name, namespace, uid, resourceVersion };
    for (const [field, value] of Object.entries(given))
      if (typeof value === "string" && value !== "") this.#object[field as keyof typeof given] ??= value;
  }

  #stage(stage: AuditStage, at: string, response?: JsonObject): void {
    const { omitStages, level } = this.#decision;
    if (omitStages.has(stage)) return;
    const isFirst = stage === "RequestReceived";
    this.#emit(
      defined({
        ...head(this.#request, level, stage, this.#object),
        impersonatedUser: this.#impersonated && userOf(this.#impersonated),
        responseStatus: response,
        requestObject: isFirst ? undefined : this.#sent,
        responseObject: stage === "ResponseComplete" ? this.#answer : undefined,
        requestReceivedTimestamp: this.#receivedAt,
        stageTimestamp: at,
        annotations: { ...this.#annotations },
      }),
    );
  }
}

/** The fields that every stage of a request has. */
function head(
  { id, uri, verb, user, sourceIps, userAgent, resource, version }: AuditedRequest,
  level: AuditLevel,
  stage: AuditStage,
  object: { name?: string; namespace?: string; uid?: string; resourceVersion?: string } = {},
): JsonObject {
  return defined({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level,
    auditID: id.slice(0, MAX_ID_LENGTH),
    stage,
    requestURI: uri,
    verb,
    user: user ? userOf(user) : {},
    sourceIPs: sourceIps.length > 0 ? [...sourceIps] : undefined,
    userAgent: userAgent === "" ? undefined : userAgent,
    objectRef:
      resource &&
      defined({
        resource: resource.resource,
        namespace: resource.namespace ?? object.namespace,
        name: resource.name ?? object.name,
        uid: object.uid,
        apiGroup: resource.group === "" ? undefined : resource.group,
        apiVersion: version,
        resourceVersion: object.resourceVersion,
        subresource: resource.subresource,
      }),
  });
}

function userOf({ name, uid, groups, extra }: UserInfo): JsonObject {
  return defined({
    username: name,
    uid,
    groups: groups.length > 0 ? [...groups] : undefined,
    extra: extra && (structuredClone(extra) as unknown as JsonObject),
  });
}
