/** `pods/log`: the options and the bytes of the response. */
import { badRequest, field, invalid } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { flagOf, integerOf } from "../request/options.ts";
import type { ContainerLog, LogLine, LogOptions } from "./backend.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)$/;

export function logOptions(query: URLSearchParams, podName: string, nowMs: number): LogOptions {
  const tailLines = integerOf(query.get("tailLines"));
  const limitBytes = integerOf(query.get("limitBytes"));
  const sinceSeconds = integerOf(query.get("sinceSeconds"));
  const sinceTime = query.get("sinceTime") ?? "";
  if (sinceTime !== "" && (!RFC3339.test(sinceTime) || Number.isNaN(Date.parse(sinceTime))))
    throw badRequest(
      `parsing time ${JSON.stringify(sinceTime)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(sinceTime)} as "2006"`,
    );
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0)
    errors.push(field.invalid("tailLines", tailLines, "must be greater than or equal to 0"));
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(field.invalid("limitBytes", limitBytes, "must be greater than 0"));
  if (sinceSeconds !== undefined && sinceTime !== "")
    errors.push(field.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(field.invalid("sinceSeconds", sinceSeconds, "must be greater than 0"));
  // Selecting one of the two streams is not supported in this version.
  if (query.has("stream")) errors.push(field.forbidden("stream", "may not be specified"));
  if (errors.length > 0) throw invalid("", "PodLogOptions", podName, errors);
  return {
    container: query.get("container") ?? "",
    follow: flagOf(query.get("follow")),
    previous: flagOf(query.get("previous")),
    timestamps: flagOf(query.get("timestamps")),
    sinceMs:
      sinceTime !== "" ? Date.parse(sinceTime) : sinceSeconds === undefined ? undefined : nowMs - sinceSeconds * 1000,
    tailLines,
    limitBytes,
  };
}

/** The log as it is sent, piece by piece; later lines are waited for only when following. */
export async function* logBytes(
  log: ContainerLog,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  const cut = (bytes: Uint8Array): Uint8Array => {
    const piece = bytes.byteLength > left ? bytes.subarray(0, left) : bytes;
    left -= piece.byteLength;
    return piece;
  };
  for (const line of lastLines(log.lines, options)) {
    if (left <= 0) return;
    yield cut(lineBytes(line, options));
  }
  if (!options.follow) return;
  for await (const line of log.follow(signal)) {
    if (left <= 0) return;
    yield cut(lineBytes(line, options));
  }
}

function lastLines(lines: Iterable<LogLine>, { sinceMs, tailLines }: LogOptions): LogLine[] {
  const wanted: LogLine[] = [];
  for (const line of lines) if (sinceMs === undefined || line.timeMs >= sinceMs) wanted.push(line);
  if (tailLines === undefined) return wanted;
  return tailLines === 0 ? [] : wanted.slice(-tailLines);
}

function lineBytes({ timeMs, text }: LogLine, { timestamps }: LogOptions): Uint8Array {
  return Buffer.from(`${timestamps ? `${new Date(timeMs).toISOString()} ` : ""}${text}\n`);
}
