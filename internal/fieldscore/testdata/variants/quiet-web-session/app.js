app.use(session({ secret: 'x', sessionTimeout: 1000, cookie: { maxAge: 60000 } }));
