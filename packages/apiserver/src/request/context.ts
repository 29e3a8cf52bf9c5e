/** The context that every operation on a resource needs, however the request arrived. */
import { ApiError } from "@flotilla/apimachinery";
import type { ConversionMemo } from "../codec/conversion.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { UserInfo } from "./user-info.ts";
import type { ServedVersion } from "../resources/resources.ts";

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
  /** Set while the request is audited. */
  readonly audit?: AuditRecord | undefined;
  /** Adds a `Warning:` header to the response. */
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
  /** Set when a webhook converts the kind. */
  readonly conversions?: ConversionMemo | undefined;
  /** Set for a request with a large body: resolves when its next step may run, in turn with other large requests. */
  readonly pause?: () => Promise<void>;
  /**
   * Awaited when another server has answered, because it may answer many requests at once: undefined when the request may
   * continue, otherwise resolves in turn with the requests of others. Unset for controllers of this server.
   */
  readonly resume?: () => Promise<void> | undefined;
}

/** 500 without a reason, as kube-apiserver returns for some client errors. */
export function plainError(message: string, options?: ErrorOptions): ApiError {
  return new ApiError(
    { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 },
    options,
  );
}
