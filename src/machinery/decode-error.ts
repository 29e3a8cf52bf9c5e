/**
 * A body that is well formed but is no object of its kind. Clients see Go's words for it, so they are part of the wire
 * format.
 */
import { ApiError } from "./status.ts";

/** 400. In a patch the same problem is the patch's fault, so it can be taken out and said otherwise. */
export class DecodeError extends ApiError {
  /** What is wrong, without saying with what. */
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

/** The error for a body that states one kind at an endpoint of, usually, the same. The version is without its group. */
export function undecodable(
  { sent, version, kind }: { sent: string; version: string; kind: string },
  problem: string,
): DecodeError {
  return new DecodeError(
    problem,
    `${sent} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`,
  );
}
