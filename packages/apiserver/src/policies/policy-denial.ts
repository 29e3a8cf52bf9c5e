/** The errors of requests that policies deny. */
import { ApiError, forbidden } from "@flotilla/apimachinery";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import { DEFAULT_REASON } from "./validating-policy.ts";

export interface Denied {
  readonly policy: string;
  /** Unset when the policy itself cannot be used. */
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason?: string;
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413 };
const INVALID_CODE = 422;

/** The error of a request that ValidatingAdmissionPolicies deny: only the first reason is reported. */
export function validationDenied(
  request: AdmissionRequest,
  { policy, binding, message, reason = DEFAULT_REASON }: Denied,
): ApiError {
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy ${by} denied request: ${message}`;
  const { status } = forbidden(request.context.served.resource.name, request.name ?? "", text);
  return new ApiError({
    ...status,
    reason,
    details: { ...status.details, causes: [{ message: text }] },
    code: CODES[reason] ?? INVALID_CODE,
  });
}

/** The error of a request that a MutatingAdmissionPolicy cannot change. As upstream, it is 403 whatever the reason is. */
export function mutationDenied(request: AdmissionRequest, denied: readonly Denied[]): ApiError {
  const { status } = forbidden(request.context.served.resource.name, request.name ?? "", "");
  const causes = denied.map(({ policy, binding, message }) => ({
    message:
      binding === undefined
        ? `policy ${JSON.stringify(policy)} denied request: ${message}`
        : `policy '${policy}' with binding '${binding}' denied request: ${message}`,
  }));
  return new ApiError({
    ...status,
    message: causes[0]?.message ?? "",
    reason: denied[0]?.reason ?? status.reason,
    details: { ...status.details, causes },
  });
}
