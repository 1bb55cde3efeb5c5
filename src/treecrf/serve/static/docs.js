// The description of the interface at /docs; a file of its own, because no page may have scripts in it.
SwaggerUIBundle({url: "openapi.json", dom_id: "#reference", validatorUrl: null});
