/** What the hub serves. */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { failureOf, readText } from "./ask.ts";
import { readTypes } from "./discovery.ts";
import type { ServedType } from "./served-types.ts";

/** Every type in every version that the hub serves. */
export function typesOfHub(client: Client, signal: AbortSignal): Promise<ServedType[]> {
  return readTypes(async (path, accept = "application/json"): Promise<JsonObject> => {
    const { status, body } = await client.raw({ method: "GET", path, cluster: HUB, headers: { accept } }, signal);
    const text = await readText(body);
    if (status !== 200)
      throw new FlotillaError("Discovery", "reading the hub's API discovery", { cause: failureOf(status, text) });
    return JSON.parse(text) as JsonObject;
  });
}
