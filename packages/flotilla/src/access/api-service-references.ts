/**
 * The Services that APIServices name. The API server connects to them from its own network and returns their answers, so
 * only users who may call a Service through the server can have it call the Service for others.
 */
import { APIService } from "@flotilla/kubernetes";
import type { Admission } from "@flotilla/apimachinery";
import type { Json } from "@flotilla/base";
import { createReferenceAccess } from "./reference-access.ts";

export const apiServiceReferences = (hub: string): Admission<APIService> =>
  createReferenceAccess<APIService>(hub, {
    for: APIService,
    named: ({ spec: { service } }) =>
      service
        ? [
            {
              path: "spec.service",
              access: {
                verb: "get",
                group: "",
                resource: "services",
                subresource: "proxy",
                namespace: service.namespace ?? "",
                name: service.name ?? "",
              },
            },
          ]
        : [],
    destination: ({ spec: { caBundle = "", insecureSkipTLSVerify = false } }): Json => [
      caBundle,
      insecureSkipTLSVerify,
    ],
  });
