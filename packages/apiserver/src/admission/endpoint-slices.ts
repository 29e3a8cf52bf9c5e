/**
 * Empty lists of an EndpointSlice are dropped from storage, as elsewhere; the client that sent them still owns the
 * fields.
 */
import { builtInKinds } from "@flotilla/apimachinery";
import type { AdmissionStep } from "@flotilla/apimachinery";
import type { EndpointSlice } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { writesObject } from "./writes-object.ts";

const LISTS = ["endpoints", "ports"] as const;

export const endpointSlices: AdmissionStep<EndpointSlice> = {
  name: "EndpointSlices",
  for: builtInKinds("discovery.k8s.io/EndpointSlice"),
  on: ["CREATE", "UPDATE"],
  matches: writesObject,
  complete({ object }) {
    let result: DeepReadonly<Partial<EndpointSlice>> = object;
    for (const list of LISTS) {
      const value: unknown = object[list];
      if (!Array.isArray(value) || value.length > 0) continue;
      const { [list]: _, ...rest } = result;
      result = rest;
    }
    return result as DeepReadonly<EndpointSlice>;
  },
};
