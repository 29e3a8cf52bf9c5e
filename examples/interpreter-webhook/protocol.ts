/**
 * The interpreter webhook protocol: the request and the response are both a ResourceInterpreterContext. This file
 * handles the envelope; `workload.ts` implements the interpretation of the kind.
 */
const API_VERSION = "config.karmada.io/v1alpha1";
const KIND = "ResourceInterpreterContext";

/** The status that a member reports for its copy. */
interface StatusItem<Status> {
  clusterName: string;
  status?: Status;
  applied?: boolean;
  appliedMessage?: string;
  health?: "Healthy" | "Unhealthy" | "Unknown";
}

export interface Question<T, Status> {
  uid: string;
  kind: { group: string; version: string; kind: string };
  name: string;
  namespace?: string;
  operation: string;
  /** The template on the hub; for InterpretStatus and InterpretHealth the member's object. */
  object: T;
  /** For Retain: the member's object. */
  observedObject?: T;
  /** For ReviseReplica: the desired number of replicas. */
  replicas?: number;
  /** For AggregateStatus: the members that have reported a status. */
  aggregatedStatus?: StatusItem<Status>[];
}

/** One operation of a JSON patch (RFC 6902). `add` also replaces an existing value. */
interface PatchOperation {
  op: "add" | "remove" | "replace";
  path: string;
  value?: unknown;
}

export interface Answer {
  /** For InterpretReplica. */
  replicas?: number;
  replicaRequirements?: { resourceRequest?: Record<string, string> };
  /** For InterpretComponent. */
  components?: { name: string; replicas: number }[];
  /**
   * For ReviseReplica, Retain and AggregateStatus: the changes to `object`. Without a patch the object stays unchanged.
   */
  patch?: PatchOperation[];
  /** For InterpretStatus. */
  rawStatus?: object;
  /** For InterpretHealth. */
  healthy?: boolean;
  /** For InterpretDependency. */
  dependencies?: { apiVersion: string; kind: string; namespace?: string; name: string }[];
}

/** A request that cannot be answered. `code` is an HTTP status code; the hub shows the message to its users. */
export class CannotAnswer extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Returns the response context for a request body. Every failure is returned in the response, with the request's uid.
 */
export function respond<T, Status>(body: string, interpret: (question: Question<T, Status>) => Answer): object {
  let uid = "";
  const ask = (): Answer => {
    const request = (JSON.parse(body) as { request?: Question<T, Status> } | null)?.request;
    if (!request) throw new CannotAnswer(400, `the body has no request; expected a ${KIND} of ${API_VERSION}`);
    ({ uid } = request);
    return interpret(request);
  };
  const outcome = outcomeOf(ask);
  return { apiVersion: API_VERSION, kind: KIND, response: { uid, ...outcome } };
}

function outcomeOf(ask: () => Answer): object {
  try {
    const { patch, ...answer } = ask();
    if (!patch || patch.length === 0) return { successful: true, ...answer };
    const encoded = Buffer.from(JSON.stringify(patch)).toString("base64");
    return { successful: true, ...answer, patchType: "JSONPatch", patch: encoded };
  } catch (error) {
    // Bugs in the rules are returned as errors too: without a response the hub could only report that none arrived.
    const code = error instanceof CannotAnswer ? error.code : error instanceof SyntaxError ? 400 : 500;
    return { successful: false, status: { code, message: error instanceof Error ? error.message : String(error) } };
  }
}
