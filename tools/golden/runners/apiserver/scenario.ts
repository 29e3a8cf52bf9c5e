/** The format of `apiserver-*.jsonl`: requests to a Kubernetes API server, in order, and what the real one answered. */
import type { Json, JsonObject } from "../../../../src/base/index.ts";

export interface Scenario {
  name: string;
  /** What is there before the first step: a namespace (unset), one with its service account, or nothing. */
  setup?: "namespace" | "pod" | "none";
  /** It looks at what all clusters share, so nothing else may run beside it. */
  serial?: boolean;
  steps: Step[];
}

export interface Step {
  request?: RecordedRequest;
  /** Repeat until the answer has this status and holds this body. */
  until?: { status?: number; body?: Json };
  withinMs?: number;
  transform?: Transform;
  /** The name of an open watch to read from. */
  read?: string;
  events?: number;
  quietMs?: number;
  untilClosed?: boolean;
  bookmarks?: boolean;
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
  /** Keep the answer open under this name. */
  watch?: string;
}

/** Reduces a large answer to what is compared. */
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
  closed?: boolean;
  claims?: JsonObject;
  binary?: boolean;
  compare?: "subset";
  unordered?: boolean | string[];
  looseMessage?: boolean;
}

/** What a server answered, in the shape of what is wanted. */
export interface Answer {
  status?: number;
  headers: Record<string, string | string[]>;
  body?: Json;
  text?: string;
  events?: Json[];
  closed?: boolean;
  claims?: JsonObject;
  waitedInVain?: boolean;
}
