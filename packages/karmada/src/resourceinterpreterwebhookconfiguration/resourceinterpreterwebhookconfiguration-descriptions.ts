import type { FieldDescriptions } from "@flotilla/apimachinery";

export const resourceInterpreterWebhookConfigurationDescriptions: FieldDescriptions = {
  "":
    "Webhooks that interpret kinds: their replicas, health, status and dependencies. They take precedence " +
    "over built-in rules. The annotation flotilla.dev/failure-policy: Ignore uses the next rule when a " +
    "webhook fails.",
  webhooks:
    "The webhooks. For each operation of a kind the first one that matches is called, by the names of configuration and webhook.",
  "webhooks[].name": "A domain name that identifies the webhook, such as workloads.example.com; unique in this object.",
  "webhooks[].clientConfig": "The address of the webhook: url or service. It must use TLS.",
  "webhooks[].clientConfig.url": "The https URL of the webhook, without user information.",
  "webhooks[].clientConfig.service":
    "A Service of the hub, which must resolve to an address that the hub can reach. The certificate must have the name NAME.NAMESPACE.svc.",
  "webhooks[].clientConfig.service.namespace": "The namespace of the Service.",
  "webhooks[].clientConfig.service.name": "The name of the Service.",
  "webhooks[].clientConfig.service.path": "The path of the requests; / by default.",
  "webhooks[].clientConfig.service.port": "The port of the Service; 443 by default.",
  "webhooks[].clientConfig.caBundle":
    "The CA that signed the certificate of the webhook: PEM, in base64. Unset: the CAs of the system.",
  "webhooks[].rules": "The kinds and operations that the webhook interprets.",
  "webhooks[].rules[].apiGroups": "API groups; the core group is empty. * alone means all.",
  "webhooks[].rules[].apiVersions": "API versions. * alone means all.",
  "webhooks[].rules[].kinds": "Kinds. * alone means all.",
  "webhooks[].rules[].operations":
    "InterpretReplica, ReviseReplica, Retain, AggregateStatus, InterpretDependency, InterpretStatus, " +
    "InterpretHealth and InterpretComponent. * alone means all.",
  "webhooks[].timeoutSeconds":
    "The time for a call with its retries, from 1 to 30 seconds; 10 by default. When it has passed, the object keeps its state and the hub tries again.",
  "webhooks[].interpreterContextVersions":
    "The versions of the protocol that the webhook supports; must contain v1alpha1.",
};
