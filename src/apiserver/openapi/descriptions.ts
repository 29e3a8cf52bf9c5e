/** What the fields mean that every object has, in our own words: `kubectl explain` shows them for all kinds. */
export const META_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ObjectMeta: {
    annotations: "Annotations are notes of tools and people. They are not selected by.",
    creationTimestamp: "CreationTimestamp is a timestamp of when the server created the object. Clients cannot set it.",
    deletionGracePeriodSeconds:
      "DeletionGracePeriodSeconds says how long the object may take to end; set when its deletion is asked for.",
    deletionTimestamp:
      "DeletionTimestamp says when the object will be gone; set when its deletion is asked for. Its finalizers come first.",
    finalizers: "Finalizers name who has work to do before the object may go. It stays until the list is empty.",
    generateName: "GenerateName is what the server begins a name with that it makes up, when no name is given.",
    generation:
      "Generation counts the changes of what is wanted. A status that names an older one is not about the newest.",
    labels: "Labels are what objects are selected by.",
    managedFields: "ManagedFields say who owns which fields. The server keeps them for apply.",
    name: "Name is unique among the objects of a kind in a namespace, and never changes.",
    namespace: "Namespace is where the object lives; empty for kinds of the whole cluster.",
    ownerReferences: "OwnerReferences name what the object belongs to. When all owners are gone, so is the object.",
    resourceVersion:
      "ResourceVersion names this state of the object. It says nothing by itself; send it back to make sure that nothing changed meanwhile.",
    selfLink: "SelfLink is not set any more.",
    uid: "UID tells the object apart from all others that ever were, also of the same name.",
  },
  ListMeta: {
    continue: "Continue is set when there is more: the next request sends it back.",
    remainingItemCount: "RemainingItemCount is about how much more there is, when it is known.",
    resourceVersion: "ResourceVersion is the state that the list shows, and where a watch goes on.",
    selfLink: "SelfLink is not set any more.",
  },
};
