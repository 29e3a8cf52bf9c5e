/** Sets the default class of Ingresses that name none. */
import { DEFAULT_INGRESS_CLASS, INGRESS_CLASS_ANNOTATION } from "../../api/index.ts";
import type { Ingress } from "../../api/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { writesKind } from "../plugin.ts";
import type { Plugin } from "../plugin.ts";
import { defaultClass } from "./default-class.ts";

export const defaultIngressClass: Plugin = {
  name: "DefaultIngressClass",
  group: "networking.k8s.io",
  concerns: (context, operation) => operation === "CREATE" && writesKind(context, "networking.k8s.io", "Ingress"),
  mutate({ object, read }): DeepReadonly<JsonObject> {
    const { metadata, spec } = object as unknown as DeepReadonly<Ingress>;
    if (spec?.ingressClassName !== undefined || metadata.annotations?.[INGRESS_CLASS_ANNOTATION] !== undefined)
      return object;
    const name = defaultClass(
      read.list("networking.k8s.io", "ingressclasses"),
      (annotations) => annotations[DEFAULT_INGRESS_CLASS] === "true",
    );
    return name === undefined
      ? object
      : { ...object, spec: { ...(object.spec as JsonObject | undefined), ingressClassName: name } };
  },
};
