/** Responses as bytes: values, text, and failures as a Status, with the common headers. */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { formatYaml } from "@flotilla/apimachinery";
import type { ApiError, Status } from "@flotilla/apimachinery";
import { PROTOBUF, statusDocument } from "../codec/protobuf.ts";
import type { Representation } from "./negotiate.ts";
import type { ApiResponse } from "./request.ts";

const encoder = new TextEncoder();
export const encode = (text: string): Uint8Array => encoder.encode(text);

export const PRIVATE = "no-cache, private";

export function jsonResponse(
  status: number,
  value: unknown,
  headers: Record<string, string | string[]> = {},
): ApiResponse {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": PRIVATE, ...headers },
    body: encode(JSON.stringify(value)),
  };
}

export function textResponse(status: number, text: string, headers: Record<string, string> = {}): ApiResponse {
  return {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": PRIVATE,
      "x-content-type-options": "nosniff",
      ...headers,
    },
    body: encode(text),
  };
}

export function statusResponse({ status }: ApiError, format: Representation["format"] = "json"): ApiResponse {
  const retry = status.details?.retryAfterSeconds;
  if (format === "protobuf")
    return {
      status: status.code,
      headers: {
        "content-type": PROTOBUF,
        "cache-control": PRIVATE,
        ...defined({ "retry-after": retry === undefined ? undefined : String(retry) }),
      },
      body: statusDocument(status),
    };
  return valueResponse(status.code, status, format, retry === undefined ? {} : { "retry-after": String(retry) });
}

/** A value in the requested text format. */
export function valueResponse(
  code: number,
  value: JsonObject | Status,
  format: "json" | "yaml",
  headers: Record<string, string> = {},
  pretty = false,
): ApiResponse {
  if (format === "json" && !pretty) return jsonResponse(code, value, headers);
  const body = format === "json" ? `${JSON.stringify(value, null, 2)}\n` : formatYaml(value);
  return {
    status: code,
    headers: { "content-type": `application/${format}`, "cache-control": PRIVATE, ...headers },
    body: encode(body),
  };
}
