export const whatif = { name: "whatif", title: "What if", show() { return {}; } };
