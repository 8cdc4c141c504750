export const plan = { name: "plan", title: "Plan", show() { return {}; } };
