/** Sets the default class of Ingresses that name none. */
import { DEFAULT_INGRESS_CLASS, INGRESS_CLASS_ANNOTATION, IngressClass } from "@flotilla/kubernetes";
import { builtInKinds } from "@flotilla/apimachinery";
import type { AdmissionStep } from "@flotilla/apimachinery";
import type { Ingress } from "@flotilla/kubernetes";
import { defaultClass } from "./default-class.ts";
import { writesObject } from "./writes-object.ts";

export const defaultIngressClass: AdmissionStep<Ingress> = {
  name: "DefaultIngressClass",
  for: builtInKinds("networking.k8s.io/Ingress"),
  on: ["CREATE"],
  matches: writesObject,
  complete({ object, read }) {
    const { metadata, spec } = object;
    if (spec?.ingressClassName !== undefined || metadata.annotations?.[INGRESS_CLASS_ANNOTATION] !== undefined)
      return object;
    const name = defaultClass(
      read.list(IngressClass),
      ({ metadata: { annotations } }) => annotations?.[DEFAULT_INGRESS_CLASS] === "true",
    );
    return name === undefined ? object : { ...object, spec: { ...spec, ingressClassName: name } };
  },
};
