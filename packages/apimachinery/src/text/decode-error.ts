/**
 * A well-formed body that is not an object of its kind. Clients see Go's messages, so they are part of the wire format.
 */
import { ApiError } from "../status.ts";

/** 400. In a patch the same error is attributed to the patch, so `problem` can be extracted and worded differently. */
export class DecodeError extends ApiError {
  /** The problem, without the object it concerns. */
  readonly problem: string;

  constructor(problem: string, message = problem) {
    super({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason: "BadRequest",
      code: 400,
    });
    this.problem = problem;
  }
}

/** The error for a body of one kind at an endpoint of, usually, the same kind. The version is without its group. */
export function undecodable(
  { sent, version, kind }: { sent: string; version: string; kind: string },
  problem: string,
): DecodeError {
  return new DecodeError(
    problem,
    `${sent} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`,
  );
}
