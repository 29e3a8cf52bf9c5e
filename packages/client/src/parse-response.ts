/**
 * Parses a response. A long list is parsed item by item, with pauses in which other requests run: the event loop is
 * never blocked for longer than one item takes.
 */
import { setImmediate } from "node:timers/promises";
import { endOfString, isObject, messageOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { ResponseLimitError, UnreachableError } from "./errors.ts";
import { checkValues } from "./response-limits.ts";
import type { ResponseLimits } from "./response-limits.ts";

/** JSON.parse takes some 10 ms per MiB of ordinary objects. */
const SLICE_ABOVE_BYTES = 2 * 1024 * 1024;
const SLICE_BYTES = 1024 * 1024;
/** Everything of a list but its items: type, version and continue token. */
const MAX_HEAD_BYTES = 64 * 1024;

const NOT_A_SERVER = "check that the address is that of a Kubernetes API server";

export async function parseResponse(
  doing: string,
  bytes: Buffer,
  isList: boolean,
  limits: ResponseLimits,
): Promise<JsonObject> {
  if (isList && bytes.length > SLICE_ABOVE_BYTES) {
    const sliced = await parseList(doing, bytes, limits);
    if (sliced) return sliced;
  }
  checkValues(bytes, isList ? limits.listValues : limits.objectValues, `${doing}: the response`);
  return parseObject(doing, bytes.toString("utf8"));
}

function parseObject(doing: string, text: string): JsonObject {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw new UnreachableError(`${doing}: the response is not JSON (${messageOf(error)}); ${NOT_A_SERVER}`, {
      cause: error,
    });
  }
  if (isObject(answer)) return answer;
  throw new UnreachableError(`${doing}: the response is not an object; ${NOT_A_SERVER}`);
}

/** Undefined when the text has no field `items` with a list; then nothing was parsed. */
async function parseList(doing: string, bytes: Buffer, limits: ResponseLimits): Promise<JsonObject | undefined> {
  const found = await findItems(bytes, limits);
  if (found === "too many values")
    throw new ResponseLimitError(`${doing}: the list has more than ${limits.listValues} values`);
  if (!found) return undefined;
  const { start, end, bounds } = found;
  if (start + (bytes.length - end) > MAX_HEAD_BYTES)
    throw new ResponseLimitError(`${doing}: the list has more than ${MAX_HEAD_BYTES} bytes beside its items`);

  const list = parseObject(doing, bytes.toString("utf8", 0, start) + bytes.toString("utf8", end));
  const items: Json[] = [];
  let pauseAt = SLICE_BYTES;
  for (let index = 0; index + 1 < bounds.length; index++) {
    const [from = 0, to = 0] = [bounds[index], bounds[index + 1]];
    const item = bytes.subarray(from + 1, to);
    if (item.length > limits.objectBytes)
      throw new ResponseLimitError(`${doing}: an item of the list is longer than ${limits.objectBytes} bytes`);
    checkValues(item, limits.objectValues, `${doing}: an item of the list`);
    items.push(parseObject(doing, item.toString("utf8")));
    if (to < pauseAt) continue;
    pauseAt = to + SLICE_BYTES;
    await setImmediate();
  }
  list["items"] = items;
  return list;
}

interface Items {
  /** The bytes between the brackets of `items`. */
  start: number;
  end: number;
  /** The places of the opening bracket, of each comma between items, and of the closing bracket; none if empty. */
  bounds: number[];
}

/** Finds the items of a list at its top level. */
async function findItems(
  bytes: Buffer,
  { listValues }: Pick<ResponseLimits, "listValues">,
): Promise<Items | "too many values" | undefined> {
  const bounds: number[] = [];
  let depth = 0;
  let values = 0;
  let key = "";
  let start = -1;
  let isEmpty = true;
  let pauseAt = SLICE_BYTES;
  for (let at = 0; at < bytes.length; at++) {
    if (at >= pauseAt) {
      pauseAt = at + SLICE_BYTES;
      await setImmediate();
    }
    const byte = bytes[at] ?? 0;
    switch (byte) {
      case 0x22 /* " */: {
        const end = endOfString(bytes, at);
        if (depth === 1 && start < 0) key = end - at < 16 ? bytes.toString("latin1", at + 1, end) : "";
        at = end;
        isEmpty = false;
        break;
      }
      case 0x7b /* { */:
      case 0x5b /* [ */:
        if (++values > listValues) return "too many values";
        if (depth === 1 && start < 0 && byte === 0x5b && key === "items") {
          start = at + 1;
          bounds.push(at);
          isEmpty = true;
        } else isEmpty = false;
        depth++;
        break;
      case 0x7d /* } */:
      case 0x5d /* ] */:
        depth--;
        if (start < 0 || depth !== 1) break;
        if (isEmpty) bounds.length = 0;
        else bounds.push(at);
        return { start, end: at, bounds };
      case 0x2c /* , */:
        if (++values > listValues) return "too many values";
        if (depth === 1) key = "";
        if (start >= 0 && depth === 2) bounds.push(at);
        break;
      default:
        if (byte > 0x20) isEmpty = false;
    }
  }
  return undefined;
}
