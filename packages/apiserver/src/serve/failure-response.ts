/** The answer to a request that failed: a Status with the reason, or without it where it is of no use to the client. */
import { ApiError, internalError, unavailable } from "@flotilla/apimachinery";
import type { Log } from "@flotilla/base";
import { TooBusyError } from "../flowcontrol/flow-control.ts";
import { failureFormat } from "../request/negotiate.ts";
import { PageNotFound } from "../request/page-not-found.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { statusResponse, textResponse } from "../request/respond.ts";
import { StoreUnavailableError, StoreWriteError } from "../store/errors.ts";

export function failureResponse(error: unknown, { headers, method, path }: ApiRequest, log: Log): ApiResponse {
  if (error instanceof PageNotFound) return textResponse(404, "404 page not found\n");
  // As kube-apiserver: the rejection of an overloaded server costs next to nothing.
  if (error instanceof TooBusyError)
    return textResponse(429, `${error.message}\n`, { "retry-after": String(error.retryAfterSeconds) });
  if (error instanceof ApiError) return statusResponse(error, failureFormat(headers.accept));
  // The owner of the store logs this once: a full store rejects every write.
  if (error instanceof StoreWriteError)
    return statusResponse(
      internalError("the store of this server is full or rejects writes; free some space there, and try again"),
      failureFormat(headers.accept),
    );
  if (error instanceof StoreUnavailableError) {
    const doubt = method === "GET" ? "" : "; the change may or may not have been made";
    return statusResponse(unavailable(error.message + doubt), failureFormat(headers.accept));
  }
  log.error("request failed", { method, path, error });
  // Internal errors are logged, not sent to the client.
  return statusResponse(internalError("the server could not handle the request; see its log for the reason"));
}
