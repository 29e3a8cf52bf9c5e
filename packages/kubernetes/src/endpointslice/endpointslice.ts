import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { EndpointSlice } from "./endpointslice-kind.ts";
import { rules } from "./endpointslice-rules.ts";

export const endpointSlice = defineKind({
  kind: EndpointSlice,
  rules,
  example: exampleOf(EndpointSlice, { addressType: "IPv4", endpoints: [] }),
});
