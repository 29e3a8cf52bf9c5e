/**
 * Empty lists of an EndpointSlice are dropped from storage, as elsewhere; the client that sent them still owns the
 * fields.
 */
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { writesKind } from "../plugin.ts";
import type { Plugin } from "../plugin.ts";

const LISTS = ["endpoints", "ports"];

export const endpointSlices: Plugin = {
  name: "EndpointSlices",
  group: "discovery.k8s.io",
  concerns: (context, operation) => operation !== "DELETE" && writesKind(context, "discovery.k8s.io", "EndpointSlice"),
  mutate({ object }) {
    let result: DeepReadonly<JsonObject> = object;
    for (const list of LISTS) {
      const value = object[list];
      if (!Array.isArray(value) || value.length > 0) continue;
      const { [list]: _, ...rest } = result;
      result = rest;
    }
    return result;
  },
};
