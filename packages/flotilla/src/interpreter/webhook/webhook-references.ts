/**
 * The Services that interpreter webhooks name. The hub connects to them from its own network and sends them whole objects,
 * so only users who may read a Service can have the hub call it.
 */
import { ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import type { Admission } from "@flotilla/apimachinery";
import { createReferenceAccess } from "../../access/reference-access.ts";

export const webhookReferences = (hub: string): Admission<ResourceInterpreterWebhookConfiguration> =>
  createReferenceAccess<ResourceInterpreterWebhookConfiguration>(hub, {
    for: ResourceInterpreterWebhookConfiguration,
    named: ({ webhooks }) =>
      webhooks.flatMap(({ clientConfig: { service } }, index) =>
        service
          ? [
              {
                path: `webhooks[${index}].clientConfig.service`,
                access: {
                  verb: "get",
                  group: "",
                  resource: "services",
                  namespace: service.namespace,
                  name: service.name,
                },
              },
            ]
          : [],
      ),
  });
