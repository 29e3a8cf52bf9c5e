/**
 * The format of `apiserver-*.jsonl`: requests to a Kubernetes API server, in order, and the responses of the real one.
 */
import type { Json, JsonObject } from "@flotilla/base";

export interface Scenario {
  name: string;
  /** The setup before the first step: a namespace (unset), one with its service account, or nothing. */
  setup?: "namespace" | "pod" | "none";
  /** Reads objects shared by all clusters, so nothing else may run in parallel. */
  serial?: boolean;
  /** The behaviour of webhooks by path. */
  webhooks?: Record<string, WebhookBehaviour>;
  steps: Step[];
}

/** How a webhook answers; by default it allows everything. */
export interface WebhookBehaviour {
  delayMs?: number;
  httpStatus?: number;
  text?: string;
  raw?: string;
  /** Fields of the response; a patch is given as its operations. */
  response?: JsonObject;
  /** Only the first call is answered with the patch. */
  patchOnce?: boolean;
  /** For conversions: changes by versions (`v1->v2`), or the message of a failure. */
  convert?: Record<string, { move?: [string, string]; set?: [string, Json]; remove?: string }[]>;
  fail?: string;
}

export interface Step {
  request?: RecordedRequest;
  /** Repeat until the response has this status and contains this body. */
  until?: { status?: number; body?: Json };
  withinMs?: number;
  transform?: Transform;
  /** The name of an open watch to read from. */
  read?: string;
  events?: number;
  quietMs?: number;
  untilClosed?: boolean;
  bookmarks?: boolean;
  /** The path of a webhook: what was it asked? */
  calls?: string;
  sleepMs?: number;
  want?: WantedAnswer;
  wantAnyOf?: WantedAnswer[];
}

export interface RecordedRequest {
  method: string;
  path: string;
  headers?: Record<string, string | null>;
  user?: { name?: string; groups?: string[]; uid?: string; extra?: Record<string, string[]> };
  /** `none` sends no credentials, anything else is a bearer token. */
  auth?: string;
  body?: Json;
  text?: string;
  base64?: string;
  /** Keep the response open under this name. */
  watch?: string;
}

/** Reduces a large response to the compared parts. */
export interface Transform {
  pick?: string[];
  without?: string[];
  names?: boolean;
  keys?: string;
  find?: { in: string; where: Json };
  openapi?: string;
}

export interface WantedAnswer {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: Json;
  text?: string;
  events?: Json[];
  calls?: Json[];
  closed?: boolean;
  claims?: JsonObject;
  binary?: boolean;
  compare?: "subset";
  unordered?: boolean | string[];
  looseMessage?: boolean;
}

/** A server's response, in the shape of the expected one. */
export interface Answer {
  status?: number;
  headers: Record<string, string | string[]>;
  body?: Json;
  text?: string;
  events?: Json[];
  calls?: Json[];
  closed?: boolean;
  claims?: JsonObject;
  waitedInVain?: boolean;
}
