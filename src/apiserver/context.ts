/** The context that every operation on a resource needs, however the request arrived. */
import { ApiError } from "../machinery/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { LogicalCluster } from "./clusters/clusters.ts";
import type { UserInfo } from "./request/request.ts";
import type { ServedVersion } from "./clusters/resources.ts";

export interface RequestContext {
  readonly cluster: LogicalCluster;
  readonly served: ServedVersion;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly userAgent: string;
  /** The caller is one of the controllers that belong to this server, in this process or another (`IsController`). */
  readonly byController: boolean;
  /** Adds a `Warning:` header to the response. */
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
}

/** 500 without a reason, as kube-apiserver returns for some client errors. */
export function plainError(message: string): ApiError {
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 });
}

export const invalidValue = (field: string, value: unknown, why: string): FieldError => ({
  type: "Invalid",
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
});
export const requiredValue = (field: string, why?: string): FieldError => ({
  type: "Required",
  field,
  message: why ? `Required value: ${why}` : "Required value",
});
export const forbiddenField = (field: string, why: string): FieldError => ({
  type: "Forbidden",
  field,
  message: `Forbidden: ${why}`,
});
export const unsupportedValue = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: "NotSupported",
  field,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((text) => JSON.stringify(text)).join(", ")}`,
});
