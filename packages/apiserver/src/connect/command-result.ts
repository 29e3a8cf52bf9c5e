/** What a client learns about a command, and states: the result as a Status, and the size of its terminal. */
import { isObject, messageOf } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";

export function exitStatus(code: number): JsonObject {
  if (code === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  };
}

export function failureStatus(error: unknown): JsonObject | ApiError["status"] {
  if (error instanceof ApiError) return error.status;
  return { metadata: {}, status: "Failure", message: messageOf(error), reason: "InternalError", code: 500 };
}

/** Undefined for anything that is not a size. */
export function terminalSize(content: Uint8Array): { width: number; height: number } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(content).toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isObject(value)) return undefined;
  const { Width: width, Height: height } = value;
  return typeof width === "number" && typeof height === "number" ? { width, height } : undefined;
}
