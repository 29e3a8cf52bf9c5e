/** The namespace of a command. Completion uses it in every start, so this file loads nothing. */

export const namespaceFlag = {
  namespace: {
    type: "string",
    short: "n",
    value: "NS",
    completes: "namespace",
    description: "the namespace (default: that of the kubeconfig, else default)",
  },
} as const;

/** The one rule of all commands, as in kubectl: -n, else the namespace of the kubeconfig's context, else `default`. */
export const chosenNamespace = (flags: { namespace?: string | undefined }, hub: { namespace?: string }): string =>
  flags.namespace ?? hub.namespace ?? "default";
