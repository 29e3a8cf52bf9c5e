/**
 * Descriptions of the metadata fields that every object has, in our own words. `kubectl explain` shows them for all
 * kinds.
 */
export const META_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ObjectMeta: {
    annotations: "Annotations hold non-identifying metadata for tools and users. They cannot be used in selectors.",
    creationTimestamp:
      "CreationTimestamp is a timestamp: the time at which the server created the object. Clients cannot set it.",
    deletionGracePeriodSeconds:
      "DeletionGracePeriodSeconds is the number of seconds the object has to terminate gracefully; set when its deletion is requested.",
    deletionTimestamp:
      "DeletionTimestamp is the time after which the object is deleted; set when its deletion is requested. " +
      "The object is not removed before its finalizers are.",
    finalizers:
      "Finalizers must be empty before the object is deleted. Each entry identifies the component that will remove it from the list.",
    generateName: "GenerateName is the prefix of a name that the server generates when no name is given.",
    generation:
      "Generation is a sequence number of the desired state. A status that names an older generation does not describe the newest one.",
    labels: "Labels are key-value pairs that selectors match.",
    managedFields: "ManagedFields record which field manager owns which fields. The server maintains them for apply.",
    name: "Name is unique among the objects of a kind in a namespace, and cannot be changed.",
    namespace: "Namespace is the namespace of the object; empty for cluster-scoped kinds.",
    ownerReferences:
      "OwnerReferences list the objects that own this object. When all owners are deleted, the object is garbage-collected.",
    resourceVersion:
      "ResourceVersion identifies this version of the object. It is opaque to clients; send it back in an update to detect concurrent changes.",
    selfLink: "SelfLink is no longer set.",
    uid: "UID distinguishes the object from all others, including earlier ones of the same name.",
  },
  ListMeta: {
    continue: "Continue is set when the list has more items; send it back in the next request.",
    remainingItemCount: "RemainingItemCount is the approximate number of items not included in this list, when known.",
    resourceVersion: "ResourceVersion is the version of the list, from which a watch can continue.",
    selfLink: "SelfLink is no longer set.",
  },
};
