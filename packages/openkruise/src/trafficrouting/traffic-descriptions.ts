/** Fields of routes that Rollouts and TrafficRoutings share. */
import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

const headers = (at: string, what: string): FieldDescriptions => ({
  [at]: what,
  [`${at}[].name`]: "The name of the header.",
  [`${at}[].value`]: "The value.",
});

const match = (at: string, what: string): FieldDescriptions => ({
  ...headers(at, what),
  [`${at}[].type`]: "How the value is compared: Exact or RegularExpression.",
});

/** What a step or a TrafficRouting says about requests. */
export const requestMatchDescriptions: FieldDescriptions = {
  matches: "Requests that the new revision gets: those that meet one of these.",
  ...match("matches[].headers", "Headers that a request must have."),
  requestHeaderModifier: "Changes of the headers of requests that the new revision gets.",
  ...headers("requestHeaderModifier.set", "Headers to replace."),
  ...headers("requestHeaderModifier.add", "Headers to add."),
  "requestHeaderModifier.remove": "Headers to remove.",
};

/** Steps can also name the path and parameters of requests. */
export const stepMatchDescriptions: FieldDescriptions = {
  ...requestMatchDescriptions,
  ...match("matches[].queryParams", "Query parameters that a request must have."),
  "matches[].queryParams[].name": "The name of the parameter.",
  "matches[].path": "The path of the request.",
  "matches[].path.type": "How the path is compared: Exact, PathPrefix or RegularExpression.",
  "matches[].path.value": "The path.",
};

export const trafficReferenceDescriptions: FieldDescriptions = {
  "[].service": "The Service whose requests are routed.",
  "[].gracePeriodSeconds": "How long a change of the routes is given before the next one. 3 by default.",
  ...descriptionsAt("[].ingress", {
    "": "Routes through an Ingress, with its annotations for a canary.",
    classType: "The controller of the Ingress: nginx by default.",
    name: "The name of the Ingress.",
  }),
  ...descriptionsAt("[].gateway", {
    "": "Routes through the Gateway API.",
    httpRouteName: "The name of the HTTPRoute.",
  }),
  ...descriptionsAt("[].customNetworkRefs", {
    "": "Other objects with routes. Simulated members have no scripts for them.",
    "[].apiVersion": "The API version of the object.",
    "[].kind": "The kind of the object.",
    "[].name": "The name of the object.",
  }),
};
